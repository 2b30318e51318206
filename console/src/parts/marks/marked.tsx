import { Fragment } from 'react'

/** A sentence of the texts in which `<b>…</b>` marks what matters. */
export function Marked({ text }: { readonly text: string }) {
  return text
    .split(/<\/?b>/)
    .map((piece, index) =>
      index % 2 === 0 ? <Fragment key={index}>{piece}</Fragment> : <b key={index}>{piece}</b>,
    )
}
