import AccessTokens
import HTTPClient

@testable import Operator

/// JSON as a server says it.
func json(_ text: String) -> StrictJSON {
  StrictJSON.parse(Array(text.utf8), maximumMembers: 100_000) ?? .null
}

func answer(_ text: String, status: Int = 200) -> OperatorAnswer {
  OperatorAnswer(status: status, json: status == 204 ? nil : json(text))
}

func http(_ text: String, status: Int, type: String?, fields: [String: [String]] = [:]) -> HTTPAnswer {
  HTTPAnswer(
    head: HTTPAnswerHead(
      status: status, headers: fields.merging(type.map { ["content-type": [$0]] } ?? [:]) { old, _ in old }),
    body: Array(text.utf8))
}

extension OperatorTask {
  /// Everything that was asked and printed, with an answer for each request in order.
  mutating func run(_ answers: [OperatorAnswer]) throws -> (asked: [Ask], output: Output) {
    var asked: [Ask] = []
    var output = Output()
    for each in answers {
      guard let ask else { break }
      asked.append(ask)
      try take(each)
      let more = takeOutput()
      output.text += more.text
      output.notes += more.notes
    }
    return (asked, output)
  }
}

let plainStyle = Style(json: false, width: 80)
let programsStyle = Style(json: true, width: 80)
