kb.kernel @k ins(%x: tensor<83x75xbf16>) outs(%y: tensor<75x83xbf16>) {
  %0 = linalg.transpose ins(%x : tensor<83x75xbf16>) outs(%y : tensor<75x83xbf16>) permutation = [1, 0]
  kb.yield %0 : tensor<75x83xbf16>
}
