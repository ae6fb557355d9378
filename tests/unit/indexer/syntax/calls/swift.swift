import Foundation

@MainActor class UserController: Controller<User>, Closeable {
    let repo: UserRepo
    var orders = OrderService(size: 10)
    var cache = LruCache<String>(size: 10)

    func run(name: String, box: Box<Item>?) throws -> Item? {
        let user = repo.find(trim(name))
        let mail = Mail(user: user)
        mail.send(to: user)
        self.orders.close(user)
        cache.put(name)
        names.map(parse).forEach { show($0) }
        let report: Report = Report.shared.open()
        report.print()
        return box as? Item
    }
}

func parse(text: String) -> Int { text.count() }
