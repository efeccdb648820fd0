#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#outer = affine_map<(d0, d1, d2) -> (d0, d2)>
#one = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<4x6x37xf32>, %b: tensor<4x37xf32>, %i: tensor<888xi32>)
    outs(%y: tensor<4x6x37xf32>, %z: tensor<4x6x37xi32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %last = arith.constant 30 : index
  %wide = tensor.expand_shape %i [[0, 1, 2]] output_shape [4, 6, 37] : tensor<888xi32> into tensor<4x6x37xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #outer, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %b, %wide : tensor<4x6x37xf32>, tensor<4x37xf32>, tensor<4x6x37xi32>)
    outs(%y, %z : tensor<4x6x37xf32>, tensor<4x6x37xi32>) {
  ^bb0(%a: f32, %c: f32, %n: i32, %o: f32, %p: i32):
    %0 = math.tanh %a : f32
    %1 = arith.negf %c : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %0, %3 : f32
    %5 = linalg.index 2 : index
    %6 = arith.cmpi slt, %5, %last : index
    %7 = arith.select %6, %4, %zero : f32
    %8 = arith.addi %n, %n : i32
    linalg.yield %7, %8 : f32, i32
  } -> (tensor<4x6x37xf32>, tensor<4x6x37xi32>)
  kb.yield %r#0, %r#1 : tensor<4x6x37xf32>, tensor<4x6x37xi32>
}
