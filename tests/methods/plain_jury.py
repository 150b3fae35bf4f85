"""The house method once more: dense numpy, one query and one expert at a time, as the definition reads."""

import numpy as np


def queries_of(data):
    """Per query: features [items, 4, experts], gains and weights of the items that count."""
    r, labels = data.rankings, data.slot_labels
    for q in range(len(r)):
        lo, hi = r.slot_ptr[q], r.slot_ptr[q + 1]
        features = np.zeros((hi - lo, 4, len(r.experts)))
        rrf = np.zeros(hi - lo)
        for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
            for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
                rank, i = r.entry_rank[e], r.entry_slot[e] - lo
                features[i, :, r.list_expert[m]] += [60 / (60 + rank), 10 / (10 + rank), 1.0, np.log(1 + 100 / rank)]
                rrf[i] += 1 / (60 + rank)
        place = np.array([(rrf > s).sum() + ((rrf == s).sum() + 1) / 2 for s in rrf])
        label = labels[lo:hi]
        judged = ~np.isnan(label)
        counts = judged | (place <= 1000) if judged.any() else judged
        weight = np.where(judged, data.slot_label_weights[lo:hi], 50 / (50 + place))
        yield features[counts], np.where(judged, np.maximum(label, 0), 0.0)[counts], weight[counts]


def gram(features, gain, weight):
    """[features, gain] centred in the query, and its weighted products; None where the gains do not differ."""
    if not len(gain) or gain.max() == gain.min():
        return None
    z = np.column_stack([features.reshape(len(gain), -1), gain])
    z = z - weight @ z / weight.sum()
    return (z.T * weight) @ z / np.sqrt((weight * z[:, -1] ** 2).sum())


def shares_of(prior, correlations, n):
    """The share of each expert in the mean of the prior."""
    if prior == "equal":
        return np.full(len(correlations), 1 / len(correlations))
    size = np.exp(8 * n / (n + 10) * (correlations - correlations.mean()))
    return size / size.sum()


def weights(grams, prior="equal", lam=20.0, kappa=5.0, kept=0.25):
    """The closed form with its guards, [4, experts]; the common curve keeps ``kept`` of its aim, or is refitted."""
    n, total = len(grams), sum(grams)
    A, b, yy = total[:-1, :-1], total[:-1, -1], total[-1, -1]
    K = len(b) // 4
    lam = lam if n >= 5 else max(lam, 100.0)
    block = [slice(j * K, (j + 1) * K) for j in range(4)]
    used = range(3) if prior == "equal" else range(4)
    aims = {0: 1.0} if prior == "equal" else {0: 0.5, 3: 0.5}
    e = [A[j, j].diagonal().mean() / n for j in block]
    s = [A[j, j].sum() / K**2 / n for j in block]
    a = [0.3 * np.sqrt(yy / n / s[j]) if j in aims else np.nan for j in range(4)]
    share = shares_of(prior, b[block[0]] / np.sqrt(A[block[0], block[0]].diagonal() * yy), n)

    def solved(kappas):
        M, right = A.copy(), b.copy()
        for j in used:
            penalty = lam * e[j] * (np.eye(K) - 1 / K) + kappas[j] * s[j]
            M[block[j], block[j]] += penalty
            right[block[j]] += penalty @ (aims[j] * a[j] * share) if j in aims else 0.0
        here = slice(len(used) * K)
        return np.append(np.linalg.solve(M[here, here], right[here]), np.zeros((4 - len(used)) * K)).reshape(4, K)

    kappas = [kappa] * 4
    w = solved(kappas)
    if sum(w[j].sum() / a[j] for j in aims) < kept:
        for j in aims:
            kappas[j] = 1e6
        w = solved(kappas)
    if w[1].sum() < 0:
        kappas[1] = kappas[2] = 1e6
        w = solved(kappas)
    return w


def plain_jury(data, prior="equal", **penalties):
    """The four weights of every expert of ``data``."""
    found = [gram(*query) for query in queries_of(data)]
    return weights([g for g in found if g is not None], prior, **penalties)
