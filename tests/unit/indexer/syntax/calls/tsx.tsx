import { Button } from "./button";

type Props = { user: User };

export function Card({ user }: Props) {
  const [open, setOpen] = useState<boolean>(false);
  const close = () => setOpen(false);
  return (
    <Button onClick={close}>
      <div>{format(user.name())}</div>
    </Button>
  );
}
