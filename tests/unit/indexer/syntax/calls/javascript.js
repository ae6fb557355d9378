import api, { fetchUser as load, save } from "./api/client.js";
import * as store from "../store";
const { join } = require("path");
const log = require("./log");

class Panel extends Base {
  constructor(user) {
    super(user);
    this.cache = new Cache(10);
  }
  async render() {
    const item = await load(this.id);
    this.cache.put(item);
    store.write(join("a", item.name));
    return this.draw(item).then(save);
  }
}

export const start = () => {
  log.info("up");
  new Panel(api.me()).render();
};

const View = () => <Panel user={start} />;
