# ONNX, StringSplit: without `delimiter` it splits at consecutive whitespace characters. Python's str.split does that.
parts = "a\tb\nc d".split()
print(f"expected [1,{len(parts)}]", "|".join(parts) + ",", len(parts))
