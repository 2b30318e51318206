import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import page from '../page/page.module.css'

interface FigureProps {
  readonly name: ReactNode
  /** undefined: still loading. */
  readonly value: ReactNode
  readonly note: ReactNode
}

/** An important number with its name above and a note below. */
export function Figure({ name, value, note }: FigureProps) {
  return (
    <div>
      <div className={page.figureName}>{name}</div>
      <div className={page.figure}>{value ?? <Skeleton height={24} width={120} my={4} />}</div>
      <div className={page.figureNote}>{note}</div>
    </div>
  )
}
