import Foundation
import HTTPServer
import Testing

@testable import Gateway

@Suite("The pages in the program", .timeLimit(.minutes(1)))
struct PagesTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/Gateway/Pages").standardizedFileURL

  @Test func `every file of the folder is served as it is`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(names.count > 30)
    for name in names {
      let response = Pages.response(path: name == "admin.html" ? "/admin" : "/\(name)")
      let bytes = try Data(contentsOf: Self.folder.appending(path: name))
      // Without the bytes: each page's would be printed.
      let isServed = response?.body == Array(bytes)
      #expect(isServed, "\(name) is not in the table of Pages, or was built from another file")
    }
  }

  @Test(arguments: [
    "", "index.html", "//index.html", "/admin.html", "/../roost.js", "/roost.js/", "/none.js",
  ])
  func `nothing else is`(path: String) { #expect(Pages.response(path: path) == nil) }
}
