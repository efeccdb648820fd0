kb.kernel @k ins(%x: tensor<96x80xf32>) outs(%y: tensor<80x96xf32>) {
  %0 = linalg.transpose ins(%x : tensor<96x80xf32>) outs(%y : tensor<80x96xf32>) permutation = [1, 0]
  kb.yield %0 : tensor<80x96xf32>
}
