"""Text as all can hold it: what JSON of others and names of files bring may have no UTF-8 form."""


def clean(text: str) -> str:
    """Text that can be encoded: halves of surrogate pairs are joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
