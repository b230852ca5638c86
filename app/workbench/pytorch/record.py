"""What planscope has written of its one-device run (engine/runtime/run_record.h), as tensors."""
import json
import math

import torch

TYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
         7: torch.float64, 8: torch.complex32, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 15: torch.bfloat16}
WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
         torch.complex32: torch.complex128, torch.complex64: torch.complex128}


class Unlike(Exception):
    """What keeps the two runs from being compared at all."""


class Record:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        length = int.from_bytes(self.bytes[:8], "little")
        self.header = json.loads(self.bytes[8 : 8 + length])
        self.base = 8 + length

    def tensor(self, row):
        dtype, count = TYPES[row["type"]], math.prod(row["sizes"])
        if count == 0:
            return torch.empty(row["sizes"], dtype=dtype)
        flat = torch.frombuffer(self.bytes, dtype=dtype, count=count, offset=self.base + row["offset"])
        return flat.reshape(row["sizes"]).clone()

    def tensors(self, rows):
        return {row["name"]: self.tensor(row) for row in rows}

    def first(self, rows, wide):
        """First contents, in float64 or rounded to the model's types."""
        return {row["name"]: self.tensor(row).to(self.tensor(row).dtype if wide else TYPES[row["model_type"]]) for row in rows}
