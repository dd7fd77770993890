import React from 'react';

export function Basket({ fruits }: { fruits: string[] }) {
  const [mayShow, show] = React.useState<string | null>(null);
  {/* a block with a comment */}
  return mayWrap(
    <ul className={mayShow ?? 'none'}>
      {fruits.map((fruit, may) => (
        <li key={fruit} onClick={() => show(fruit + ' may')}>{fruit}</li>
      ))}
    </ul>
  );
}
