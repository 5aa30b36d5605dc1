"""One file per foreign format: fairseq in, ONNX out."""
