package com.shop.web

import com.shop.data.{UserRepo, Text => Words}
import com.shop.util.trim
import com.shop.text._

class UserController(repo: UserRepo) extends Controller(1) with Closeable {
  private val orders: OrderService = find()
  private val cache = new LruCache[String](10)

  def run(name: String): Option[Item] = {
    val mail = new Mail(repo)
    mail.send(trim(name))
    this.orders.close(mail)
    cache.put(name)
    Words.parse[Int](name)
    names.map(parse).foreach(show)
    names contains name
    name match { case Item(x) => x }
  }
}
