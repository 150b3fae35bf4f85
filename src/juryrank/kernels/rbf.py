"""Gaussian kernels at landmarks: features to learn from, and the scores of a fitted model."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def rbf_scores(first, last, slot_ptr, x, landmarks, coefficient, linear, sharpness, out):
    """out[s] = x · linear + sum over landmarks z of coefficient × exp(-sharpness × |x - z|²); landmarks are columns."""
    distance = np.empty(len(coefficient))
    for s in range(slot_ptr[first], slot_ptr[last]):
        total = 0.0
        distance[:] = 0.0
        for f in range(x.shape[1]):
            total += x[s, f] * linear[f]
            for z in range(len(distance)):  # innermost, so that it is vectorised
                difference = x[s, f] - landmarks[f, z]
                distance[z] += difference * difference
        for z in range(len(distance)):
            total += coefficient[z] * np.exp(-sharpness * distance[z])
        out[s] = total


@over_queries
def rbf_features(first, last, row_ptr, x, landmarks, sharpness, linear, weight, scale, out):
    """Rows [exp(-sharpness × |x - z|²) for each landmark z, linear × x], centred in each query; landmarks are columns.

    The mean of a query is by ``weight``, and a row is multiplied by √(weight × scale of the query).
    """
    n_columns, n_landmarks = landmarks.shape
    mean = np.empty(out.shape[1])
    for q in range(first, last):
        weights = 0.0
        for k in range(len(mean)):
            mean[k] = 0.0
        for s in range(row_ptr[q], row_ptr[q + 1]):
            row = out[s]
            weights += weight[s]
            for z in range(n_landmarks):
                row[z] = 0.0
            for f in range(n_columns):
                row[n_landmarks + f] = linear * x[s, f]
                for z in range(n_landmarks):  # innermost, so that it is vectorised
                    difference = x[s, f] - landmarks[f, z]
                    row[z] += difference * difference
            for z in range(n_landmarks):
                row[z] = np.exp(-sharpness * row[z])
            for k in range(len(mean)):
                mean[k] += weight[s] * row[k]
        for k in range(len(mean)):
            mean[k] /= weights
        for s in range(row_ptr[q], row_ptr[q + 1]):
            factor = np.sqrt(weight[s] * scale[q])
            for k in range(len(mean)):
                out[s, k] = (out[s, k] - mean[k]) * factor
