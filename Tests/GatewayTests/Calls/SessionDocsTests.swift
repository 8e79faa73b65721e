import Foundation
import HTTPServer
import TestScripts
import Testing

@testable import Gateway

/// The examples of docs/sessions.md, done in their order: each is taken, and answered in the form that stands there.
@Suite("docs/sessions.md", .timeLimit(.minutes(1)))
struct SessionDocsTests {
  private struct Request {
    var method: String
    var path: String
    var blocks: [String] = []
  }

  /// Each request of the page with the JSON behind it.
  private func requests() throws -> [Request] {
    let page = try String(contentsOf: Script.root.appending(path: "docs/sessions.md"), encoding: .utf8)
    let section = try #require(
      page.components(separatedBy: "\n## Requests\n").last?.components(separatedBy: "\n## ").first)
    var found: [Request] = []
    var isInBlock = false
    for line in section.components(separatedBy: "\n") {
      if line.hasPrefix("    "), !found.isEmpty {
        let last = found.count - 1
        if isInBlock {
          found[last].blocks[found[last].blocks.count - 1] += line
        } else {
          found[last].blocks.append(line)
        }
        isInBlock = true
        continue
      }
      isInBlock = false
      for part in line.components(separatedBy: "`") where part.contains(" /sessions") {
        let words = part.split(separator: " ").map(String.init)
        found.append(Request(method: words[0], path: words[1]))
      }
    }
    return found
  }

  /// Names and types of all that is in it.
  private func form(_ value: Any) -> String {
    switch value {
    case let object as NSDictionary:
      let members = object.map { "\($0.key): \(form($0.value))" }.sorted()
      return "{\(members.joined(separator: ", "))}"
    case let list as NSArray: return "[\(list.map { form($0) }.joined(separator: ", "))]"
    case is NSNull: return "null"
    case is NSString: return "text"
    default: return "number"
    }
  }

  private func form(_ text: String) throws -> String {
    form(try JSONSerialization.jsonObject(with: Data(text.utf8)))
  }

  @Test func `each example is taken, and answered as it stands there`() async throws {
    let found = try requests()
    let people = ["ada", "ada", "bob", "ada", "bob", "ada", "bob", "ada", "ada", "bob"]
    #expect(
      found.count == people.count && found.count == CallOperation.all.count { $0.path.contains("/sessions") })
    let scene = try await SessionScene()
    let session = "6f1d8a34-0d0e-4b7b-9a3e-2f5a8d0c1e11"
    for (request, person) in zip(found, people) {
      let note = Comment(rawValue: "\(request.method) \(request.path)")
      let method = try #require(HTTPMethod(rawValue: request.method))
      let path = request.path.replacingOccurrences(of: "{session}", with: session)
      var blocks = request.blocks
      let hasBody =
        ["POST", "PUT"].contains(request.method) && !["join", "leave"].contains { path.hasSuffix($0) }
      let body = hasBody ? blocks.removeFirst() : ""
      let answer = await scene.calls.ask(method, "/v1/calls/\(scene.call)\(path)", body, by: person)
      #expect((200...204).contains(answer.status), "\(note): \(answer.text)")
      if let expected = blocks.first { #expect(try form(answer.text) == form(expected), note) }
      #expect(blocks.count <= 1, note)
    }
  }
}
