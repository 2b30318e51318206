import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import page from '../page/page.module.css'

interface FigureProps {
  readonly name: ReactNode
  /** undefined: it is still on its way. */
  readonly value: ReactNode
  readonly note: ReactNode
}

/** A number that counts, with its name above and what it means below. */
export function Figure({ name, value, note }: FigureProps) {
  return (
    <div>
      <div className={page.figureName}>{name}</div>
      <div className={page.figure}>{value ?? <Skeleton height={24} width={120} my={4} />}</div>
      <div className={page.figureNote}>{note}</div>
    </div>
  )
}
