;; Marks the bytes that end or interrupt the plain text of a JSON string, sixteen at a time. `string-marks.ts` has this
;; compiled; its test compiles it again and compares.
(module
  ;; The text, from 0 to 65 536; after it one bit for each of its bytes, the lowest bit first.
  (memory (export "memory") 2)
  ;; Marks the first `length` bytes of the text, and whatever stands after them up to a multiple of sixteen.
  (func (export "mark") (param $length i32)
    (local $at i32)
    (local $mark i32)
    (local $bytes v128)
    (local.set $mark (i32.const 65536))
    (loop $next
      (local.set $bytes (v128.load (local.get $at)))
      (i32.store16
        (local.get $mark)
        (i8x16.bitmask
          (v128.or
            ;; As signed numbers, bytes from 0x80 on are below 0x20, too.
            (i8x16.lt_s (local.get $bytes) (i8x16.splat (i32.const 0x20)))
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
      (local.set $mark (i32.add (local.get $mark) (i32.const 2)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $length))))))
