import { type ReactNode, startTransition, useEffect, useState } from 'react'

interface LaterProps {
  /** Keeps its place until then. */
  readonly standIn?: ReactNode
  readonly children: () => ReactNode
}

/** What it contains is rendered after the rest of the page, in short tasks between which the browser stays responsive. */
export function Later({ standIn = null, children }: LaterProps) {
  const [isTime, setTime] = useState(false)
  useEffect(() => startTransition(() => setTime(true)), [])
  return isTime ? children() : standIn
}
