def last(items, n):
    return items[len(items) - n + 1:]
