"""The privacy engineer's question: how near does our own server come, and what stops it?"""
