import React, { useState } from "react";

interface Props {
  title: string;
  onClose: () => void;
}

export function Dialog({ title, onClose }: Props) {
  const [open, setOpen] = useState(true);

  function close() {
    setOpen(false);
    onClose();
  }

  return (
    <dialog open={open}>
      <h1>{title} {open ? "open" : "closed"}</h1>
      <button onClick={close}>Close</button>
    </dialog>
  );
}

export const Badge: React.FC<{ count: number }> = ({ count }) => <span>{count}</span>;

export class Counter extends React.Component<Props, { n: number }> {
  state = { n: 0 };

  render() {
    return <p>{this.state.n}</p>;
  }
}

test("Badge shows the count", () => {
  render(<Badge count={3} />);
});
