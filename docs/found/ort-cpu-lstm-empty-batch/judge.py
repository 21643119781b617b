# ONNX, LSTM: Y has the shape [seq_length, num_directions, batch_size, hidden_size].
sequence, directions, batch, hidden = 2, 1, 0, 1
print(f"expected [{sequence},{directions},{batch},{hidden}]")
