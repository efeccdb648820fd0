  func.func private @printMemrefF32(memref<*xf32>)

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c11 = arith.constant 11 : index
    %c40 = arith.constant 40 : index
    %quarter = arith.constant 0.25 : f32
    %x = memref.alloc() : memref<6x40xf32>
    scf.for %i = %c0 to %c6 step %c1 {
      scf.for %j = %c0 to %c40 step %c1 {
        %0 = arith.muli %i, %c40 : index
        %1 = arith.addi %0, %j : index
        %2 = arith.muli %1, %c7 : index
        %3 = arith.remui %2, %c11 : index
        %4 = arith.index_cast %3 : index to i32
        %5 = arith.sitofp %4 : i32 to f32
        %6 = arith.mulf %5, %quarter : f32
        memref.store %6, %x[%i, %j] : memref<6x40xf32>
      }
    }
    %s = call @softmax(%x) : (memref<6x40xf32>) -> memref<6x40xf32>
    %g = call @gate(%x, %s) : (memref<6x40xf32>, memref<6x40xf32>) -> memref<6x40xf32>
    %us = memref.cast %s : memref<6x40xf32> to memref<*xf32>
    call @printMemrefF32(%us) : (memref<*xf32>) -> ()
    %ug = memref.cast %g : memref<6x40xf32> to memref<*xf32>
    call @printMemrefF32(%ug) : (memref<*xf32>) -> ()
    return
  }
}
