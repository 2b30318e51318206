import type { ReactNode } from 'react'
import styles from './settings.module.css'

interface SectionProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly children: ReactNode
}

/** A section of settings: explanation on the left, controls on the right. */
export function Section({ title, hint, children }: SectionProps) {
  return (
    <section className={styles.section}>
      <div>
        <h2>{title}</h2>
        {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      </div>
      <div className={styles.body}>{children}</div>
    </section>
  )
}
