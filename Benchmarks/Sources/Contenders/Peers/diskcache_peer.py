"""Does the jobs of `compare` with python-diskcache and measures them where they are done.

One JSON object per line comes in, one goes out: {"nanoseconds": n}, or {"error": text}.
"""

import json
import os
import sys
import time

import diskcache


class Peer:
    def open(self, folder, contents, size, count):
        with open(contents, "rb") as file:
            self.contents = [file.read(size) for _ in range(count)]
        self.size = size
        self.keys = [f"https://example.org/items/{index}" for index in range(count)]
        # Far above the workload, as for everybody.
        self.cache = diskcache.Cache(os.path.join(folder, "items"), size_limit=16 << 30)
        self.staging = os.path.join(folder, "staging")
        self.documents = os.path.join(folder, "documents")
        os.mkdir(self.staging, 0o700)
        os.mkdir(self.documents, 0o700)
        self.documents_fd = os.open(self.documents, os.O_RDONLY | os.O_DIRECTORY)

    def close(self):
        self.cache.close()
        os.close(self.documents_fd)
        self.contents = []

    def store(self, items):
        for index in items:
            self.cache.set(self.keys[index], self.contents[index])

    def read(self, items):
        for index in items:
            content = self.cache.get(self.keys[index])
            if content is None or len(content) != self.size:
                raise KeyError(self.keys[index])

    def promote(self, items):
        for index in items:
            content = self.cache.get(self.keys[index])
            name = f"Document {index}"
            temporary = os.path.join(self.staging, name)
            file = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                if os.write(file, content) != len(content):
                    raise OSError("short write")
                os.fsync(file)
            finally:
                os.close(file)
            os.rename(temporary, os.path.join(self.documents, name))
            os.fsync(self.documents_fd)
            self.cache.delete(self.keys[index])

    def evict(self, items):
        with self.cache.transact():
            for index in items:
                self.cache.delete(self.keys[index])


def answer(peer, request):
    job = request.pop("do")
    if job in ("open", "close"):
        getattr(peer, job)(**request)
        return {"nanoseconds": 0}
    items = range(request["from"], request["to"])
    started = time.perf_counter_ns()
    getattr(peer, job)(items)
    return {"nanoseconds": time.perf_counter_ns() - started}


def main():
    peer = Peer()
    for line in sys.stdin:
        try:
            outcome = answer(peer, json.loads(line))
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(outcome), flush=True)


main()
