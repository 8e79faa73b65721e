import FuzzTargets
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Set once, before the driver starts; the driver calls with one input at a time.
nonisolated(unsafe) private var target: FuzzTarget?

/// libFuzzer on the target that ROOST_FUZZ_TARGET names; all arguments are libFuzzer's.
@_cdecl("roost_fuzz_main")
public func roostFuzzMain(
  _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  let name = getenv("ROOST_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  target = fuzzTargets.first { $0.name == name }
  guard target != nil else {
    print("ROOST_FUZZ_TARGET is none of: \(fuzzTargets.map(\.name).joined(separator: " "))")
    return 2
  }
  var count = argumentCount
  var values = arguments
  return runDriver(&count, &values) { bytes, size in
    target?.run(UnsafeRawBufferPointer(start: bytes, count: size))
    return 0
  }
}
