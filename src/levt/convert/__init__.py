"""From and to other formats: fairseq in, ONNX out, and our own in less space. Knows no training."""
