package com.shop.web

import com.shop.data.UserRepo
import com.shop.util.trim as cut
import com.shop.text.*

class UserController(private val repo: UserRepo, size: Int) : Controller(size), Closeable {
    private val orders: OrderService = find()
    private val audit = Audit(repo)

    fun run(name: String, box: Box<Item>?): Item? {
        val user = repo.find(cut(name))
        val mail = Mail(user)
        mail.send()
        this.orders.close(user)
        audit.log(user)
        Report(user).print()
        names.map { parse(it) }.forEach(::show)
        users.sortedBy(User::name) zip others
        register(run)
        return box as Item
    }
}

fun parse(text: String): Int = text.count()
