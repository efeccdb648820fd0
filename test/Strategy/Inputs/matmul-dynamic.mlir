// Every extent is known at run time only; sums start from a bias.
kb.kernel @k ins(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?x?xf32>) outs(%out: tensor<?x?xf32>) {
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%bias : tensor<?x?xf32>) -> tensor<?x?xf32>
  kb.yield %product : tensor<?x?xf32>
}
