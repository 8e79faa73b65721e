import AccessTokens
import Testing

@Suite("JSON within bounds", .timeLimit(.minutes(1)))
struct StrictJSONTests {
  /// - Returns: nil: it is read.
  private func refusal(_ text: String, members: Int = 4, values: Int = 8) -> StrictJSON.Refusal? {
    do throws(StrictJSON.Refusal) {
      _ = try StrictJSON.read(Array(text.utf8), maximumMembers: members, maximumValues: values)
      return nil
    } catch { return error }
  }

  @Test func `a list or an object has so many entries, and all together so many values`() {
    #expect(refusal("[1,2,3,4]") == nil && refusal("[1,2,3,4,5]") == .tooMany)
    #expect(refusal(#"{"a":1,"b":1,"c":1,"d":1}"#) == nil)
    #expect(refusal(#"{"a":1,"b":1,"c":1,"d":1,"e":1}"#) == .tooMany)
    #expect(refusal("[[1,2,3],[1,2]]") == nil && refusal("[[1,2,3],[1,2,3]]") == .tooMany)
    #expect(refusal("1", values: 1) == nil && refusal("[1]", values: 1) == .tooMany)
  }

  @Test func `what is too much ends the reading, whatever follows`() {
    #expect(refusal("[1,2,3,4,") == .tooMany && refusal("[1,2,3,4,!") == .tooMany)
    #expect(refusal("[[[[[[[[[[", values: 4) == .tooMany)
  }

  @Test func `what is no value is malformed`() {
    for text in ["", "[1", "[1,]", "{}x", #"{"a":1,"a":1}"#, "nul", "[1 2]"] {
      #expect(refusal(text) == .malformed, "\(text)")
    }
  }
}
