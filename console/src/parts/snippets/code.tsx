import { Fragment } from 'react'
import styles from './code.module.css'

/** Matches strings, comments and numbers of a program or JSON for highlighting. */
const TOKENS = /("(?:[^"\\\n]|\\.)*")|(^\s*#.*$)|(?<![\w.-])(-?\d+(?:\.\d+)?)(?![\w./])/gm

/** A code block with syntax highlighting. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const pieces: { readonly kind: 'plain' | 'text' | 'remark' | 'number'; readonly value: string }[] = []
  let last = 0
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > last) pieces.push({ kind: 'plain', value: text.slice(last, match.index) })
    const kind = match[1] !== undefined ? 'text' : match[2] !== undefined ? 'remark' : 'number'
    pieces.push({ kind, value: match[0] })
    last = match.index + match[0].length
  }
  pieces.push({ kind: 'plain', value: text.slice(last) })
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <pre className={styles.code} tabIndex={0} role="region" aria-label={label}>
      <code>
        {pieces.map(({ kind, value }, index) =>
          kind === 'plain' ? (
            <Fragment key={index}>{value}</Fragment>
          ) : (
            <span key={index} className={styles[kind]}>
              {value}
            </span>
          ),
        )}
      </code>
    </pre>
  )
}
