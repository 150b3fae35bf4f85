"""Judgements: which items to judge next, who judged them, and how far judges can be trusted."""
