;; Answers `random_get` with zeros. See build.sh.
(module
  (import "guest" "memory" (memory 1))
  (func (export "random_get") (param i32 i32) (result i32)
    (memory.fill (local.get 0) (i32.const 0) (local.get 1))
    (i32.const 0)))
