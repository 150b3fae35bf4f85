"""The house method once more: dense numpy, one query and one expert at a time, as the definition reads."""

import numpy as np


def queries_of(data):
    """Per query: features [items, 5, experts], gains and weights of the items that count."""
    r, labels = data.rankings, data.slot_labels
    score = r.entry_score if r.entry_score is not None else np.zeros(r.n_entries)
    lists = [score[r.entry_ptr[m] : r.entry_ptr[m + 1]] for m in range(r.n_lists)]
    sigma = {
        k: np.sqrt(np.mean([np.var(x) for x, e in zip(lists, r.list_expert, strict=True) if e == k] or [0]))
        for k in range(len(r.experts))
    }
    for q in range(len(r)):
        lo, hi = r.slot_ptr[q], r.slot_ptr[q + 1]
        features = np.zeros((hi - lo, 5, len(r.experts)))
        rrf = np.zeros(hi - lo)
        for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
            unit, lowest = max(sigma[r.list_expert[m]], np.std(lists[m])) or 1.0, min(lists[m])
            for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
                rank, i = r.entry_rank[e], r.entry_slot[e] - lo
                curves = [60 / (60 + rank), 10 / (10 + rank), 1.0, np.log(1 + 100 / rank)]
                features[i, :, r.list_expert[m]] += [*curves, (score[e] - lowest) / unit]
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


def weights(grams, prior="equal", lam=20.0, kappa=5.0, kept=0.25, scores=False):
    """The closed form with its guards, [5, experts]; the common curve keeps ``kept`` of its aim, or is refitted."""
    n, total = len(grams), sum(grams)
    A, b, yy = total[:-1, :-1], total[:-1, -1], total[-1, -1]
    K = len(b) // 5
    lam = lam if n >= 5 else max(lam, 100.0)
    block = [slice(j * K, (j + 1) * K) for j in range(5)]
    used = [0, 1, 2, *[3] * (prior != "equal"), *[4] * scores]
    aims = {0: 1.0} if prior == "equal" else {0: 0.5, 3: 0.5}
    e = [A[j, j].diagonal().mean() / n for j in block]
    s = [A[j, j].sum() / K**2 / n for j in block]
    a = [0.3 * np.sqrt(yy / n / s[j]) if j in aims else np.nan for j in range(5)]
    share = shares_of(prior, b[block[0]] / np.sqrt(A[block[0], block[0]].diagonal() * yy), n)

    def solved(kappas):
        M, right = A.copy(), b.copy()
        for j in used:
            penalty = lam * e[j] * (np.eye(K) - 1 / K) + kappas[j] * s[j]
            M[block[j], block[j]] += penalty
            right[block[j]] += penalty @ (aims[j] * a[j] * share) if j in aims else 0.0
        here = np.concatenate([np.arange(K) + j * K for j in used])
        found = np.zeros((5, K))
        found[used] = np.linalg.solve(M[np.ix_(here, here)], right[here]).reshape(len(used), K)
        return found

    kappas = [kappa] * 5
    w = solved(kappas)
    if sum(w[j].sum() / a[j] for j in aims) < kept:
        for j in aims:
            kappas[j] = 1e6
        w = solved(kappas)
    if w[1].sum() < 0:
        kappas[1] = kappas[2] = 1e6
        w = solved(kappas)
    if w[4].sum() < 0:
        kappas[4] = 1e6
        w = solved(kappas)
    return w


def plain_jury(data, prior="equal", **penalties):
    """The five weights of every expert of ``data``."""
    found = [gram(*query) for query in queries_of(data)]
    return weights([g for g in found if g is not None], prior, **penalties)
