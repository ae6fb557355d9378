package com.shop.web;

import com.shop.data.UserRepo;
import static com.shop.util.Text.trim;

public class UserController extends Controller implements Runnable {
    private final UserRepo repo;
    private OrderService orderService;

    public UserController(UserRepo repo) {
        this.repo = repo;
    }

    @Override
    public void run() {
        User user = repo.find(trim(name()));
        var mail = new Mail<User>(user);
        mail.send();
        this.orderService.close(user);
        Audit.log(user.id());
        new Report(user).print();
        list.forEach(Audit::log);
    }
}
