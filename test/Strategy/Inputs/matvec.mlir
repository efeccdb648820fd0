// One row: a vector times a matrix, and f64.
kb.kernel @k ins(%x: tensor<65xf64>, %w: tensor<65x70xf64>) outs(%out: tensor<70xf64>) {
  %zero = arith.constant 0.0 : f64
  %start = linalg.fill ins(%zero : f64) outs(%out : tensor<70xf64>) -> tensor<70xf64>
  %product = linalg.vecmat ins(%x, %w : tensor<65xf64>, tensor<65x70xf64>) outs(%start : tensor<70xf64>) -> tensor<70xf64>
  kb.yield %product : tensor<70xf64>
}
