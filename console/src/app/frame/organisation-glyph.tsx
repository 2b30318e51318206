import styles from './frame.module.css'

/** The first letter of a name, drawn: it is none of the words of the button around it. */
export function Glyph({ name }: { readonly name: string }) {
  const [first = ''] = name
  return <span className={styles.glyph} aria-hidden="true" data-letter={first.toUpperCase()} />
}
