/// A resume token as the server keeps it: a keyed code of it, which opens nothing.
typealias ResumeCode = [UInt8]
