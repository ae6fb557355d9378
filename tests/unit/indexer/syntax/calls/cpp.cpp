#include "session.h"
using net::Socket;

namespace app {

class Session : public Base {
 public:
  void open(Socket& socket) {
    socket.connect();
    auth_->verify<int>(1);
    util::trim(name());
  }
 private:
  Auth* auth_;
};

void Session::close() {
  auto* task = new Task(1);
  task->run();
  std::make_unique<Timer>(3);
  Base::close();
}

}
