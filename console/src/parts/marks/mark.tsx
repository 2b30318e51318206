import parts from '../page/parts.module.css'

/** The logo: a gate over a wave. */
export function Mark() {
  return (
    <svg className={parts.mark} viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 15V4h16v11M8.5 4v7h7V4M2.5 19.5c2.4 0 2.4-1.8 4.75-1.8s2.4 1.8 4.75 1.8 2.4-1.8 4.75-1.8 2.4 1.8 4.75 1.8" />
    </svg>
  )
}
