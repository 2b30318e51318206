import styles from './frame.module.css'

/** The first letter of a name, hidden from screen readers: it is not part of the button's name. */
export function Glyph({ name }: { readonly name: string }) {
  const [first = ''] = name
  return <span className={styles.glyph} aria-hidden="true" data-letter={first.toUpperCase()} />
}
