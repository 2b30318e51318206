import type { ReactNode } from 'react'
import { Icon, type IconName } from '../marks/icon.tsx'
import parts from './parts.module.css'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  /** The next step. */
  readonly action?: ReactNode
}

/** The empty state of a list. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className={parts.empty}>
      <span className={parts.emptyIcon}>
        <Icon name={icon} size={20} />
      </span>
      <p className={parts.emptyTitle}>{title}</p>
      {children !== undefined && <p className={parts.muted}>{children}</p>}
      {action !== undefined && <div className={parts.emptyAction}>{action}</div>}
    </div>
  )
}
