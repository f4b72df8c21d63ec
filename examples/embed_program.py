"""A program that rung calls: sentence-transformers, in a process of its own.

rung writes one line of JSON for each request and reads one line back, in the form
of the OpenAI embeddings API:

    {"input": ["a text", "another"], "model": "..."}
    {"data": [{"index": 0, "embedding": [...]}, ...], "usage": {"prompt_tokens": 7}}
    {"error": {"message": "CUDA out of memory. ..."}}

Copy it and put your own model in. Nothing but answers may go to the standard
output; what goes to the standard error is kept in the run where the program fails.
Needs `pip install sentence-transformers`.
"""

import json
import sys

answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer

from sentence_transformers import SentenceTransformer  # noqa: E402

model = SentenceTransformer(sys.argv[1] if len(sys.argv) > 1 else "all-MiniLM-L6-v2")


def tokens(texts):
    """What the model counts, its special tokens included."""
    return sum(len(ids) for ids in model.tokenizer(texts, truncation=False)["input_ids"])


def answer(request):
    texts = request["input"]
    if not all(isinstance(text, str) for text in texts):
        return {"error": {"message": "this program takes texts, not token ids"}}
    longest = max(tokens([text]) for text in texts)
    if longest > model.max_seq_length:  # the library would cut it without a word
        return {"error": {"message": f"maximum context length is {model.max_seq_length} tokens, given are {longest}"}}
    vectors = model.encode(texts, batch_size=len(texts), show_progress_bar=False)
    return {
        "data": [{"index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)],
        "usage": {"prompt_tokens": tokens(texts)},
    }


for line in sys.stdin:
    try:
        out = answer(json.loads(line))
    except Exception as e:  # out of memory too: rung names it by its words
        out = {"error": {"message": f"{type(e).__name__}: {e}"}}
    print(json.dumps(out), file=answers, flush=True)
