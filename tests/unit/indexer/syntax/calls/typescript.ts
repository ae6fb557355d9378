import { Repo, type User } from "@app/data/repo";

export interface Shape extends Named {
  area(): number;
}

export class Service implements Shape {
  private repo: Repo<User>;
  constructor(private readonly clock: Clock, client?: Client) {
    client?.connect();
  }
  area(): number {
    return this.repo.find<User>(this.clock.now()).size();
  }
}

@Injectable()
export class Other {
  run = (shape: Shape | null) => compute(shape!.area());
}

function compute(value: number): Result[] {
  const queue: Queue<Job> = new Queue();
  queue.push(value);
  return [value].map(compute);
}
