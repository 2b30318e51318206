import type { ReactNode } from 'react'
import page from './page.module.css'
import { PageTitle } from './page-title.tsx'

interface PageHeadProps {
  readonly title: string
  /** One line that explains the page. */
  readonly lead?: string
  /** Actions of the whole page. */
  readonly children?: ReactNode
}

/** The head of a page. */
export function PageHead({ title, lead, children }: PageHeadProps) {
  return (
    <div className={page.head}>
      <div>
        <PageTitle>{title}</PageTitle>
        {lead !== undefined && <p>{lead}</p>}
      </div>
      {/* An empty place would leave less room for the text. */}
      {children !== undefined && <div className={page.actions}>{children}</div>}
    </div>
  )
}
