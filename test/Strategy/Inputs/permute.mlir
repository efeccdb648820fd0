// To channels-last in batches with a bias by channel, and permutes of other element types.
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#in = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#channel = affine_map<(d0, d1, d2, d3) -> (d3)>
kb.kernel @k ins(%x: tensor<2x37x6x7xf32>, %b: tensor<37xf32>, %d: tensor<19x21xf64>, %n: tensor<33x40xi8>, %l: tensor<18x3xi64>, %h: tensor<3x5x4x24xf32>)
    outs(%y: tensor<2x6x7x37xf32>, %e: tensor<21x19xf64>, %m: tensor<40x33xi8>, %k: tensor<3x18xi64>, %p: tensor<3x4x5x24xf32>) {
  %0 = linalg.generic {indexing_maps = [#in, #channel, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %b : tensor<2x37x6x7xf32>, tensor<37xf32>) outs(%y : tensor<2x6x7x37xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<2x6x7x37xf32>
  %2 = linalg.transpose ins(%d : tensor<19x21xf64>) outs(%e : tensor<21x19xf64>) permutation = [1, 0]
  %3 = linalg.transpose ins(%n : tensor<33x40xi8>) outs(%m : tensor<40x33xi8>) permutation = [1, 0]
  %4 = linalg.transpose ins(%l : tensor<18x3xi64>) outs(%k : tensor<3x18xi64>) permutation = [1, 0]
  %5 = linalg.transpose ins(%h : tensor<3x5x4x24xf32>) outs(%p : tensor<3x4x5x24xf32>) permutation = [0, 2, 1, 3]
  kb.yield %0, %2, %3, %4, %5 : tensor<2x6x7x37xf32>, tensor<21x19xf64>, tensor<40x33xi8>, tensor<3x18xi64>, tensor<3x4x5x24xf32>
}
