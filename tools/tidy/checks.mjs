/** Every check of the tree, in the order they are told. */
import { checkCitations } from './citations.mjs'
import { checkCorePurity } from './core-purity.mjs'
import { checkDecisions } from './decisions.mjs'
import { checkDocLinks } from './doc-links.mjs'
import { checkForeignPlaces } from './foreign-places.mjs'
import { checkLightStarts } from './light-starts.mjs'
import { checkLock } from './lock.mjs'
import { checkNames } from './names.mjs'
import { checkNarrowHands } from './narrow-hands.mjs'
import { checkModuleReadmes } from './module-readmes.mjs'
import { checkRetiredWords } from './retired-words.mjs'
import { checkSideTables } from './side-tables.mjs'
import { checkSilencing } from './silencing.mjs'
import { checkSizes } from './size-records.mjs'
import { checkSnippets } from './snippets.mjs'
import { checkVendorNames } from './vendor-names.mjs'

export const CHECKS = [
  { name: 'doc-links', check: checkDocLinks },
  { name: 'citations', check: checkCitations },
  { name: 'snippets', check: checkSnippets },
  { name: 'names', check: checkNames },
  { name: 'retired-words', check: checkRetiredWords },
  { name: 'vendor-names', check: checkVendorNames },
  { name: 'module-readmes', check: checkModuleReadmes },
  { name: 'sizes', check: checkSizes },
  { name: 'core-purity', check: checkCorePurity },
  { name: 'silencing', check: checkSilencing },
  { name: 'narrow-hands', check: checkNarrowHands },
  { name: 'side-tables', check: checkSideTables },
  { name: 'decisions', check: checkDecisions },
  { name: 'light-starts', check: checkLightStarts },
  { name: 'lock', check: checkLock },
  { name: 'foreign-places', check: checkForeignPlaces },
]
