#id = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  kb.yield %r : tensor<?xf32>
}
