import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { whenLoaded } from './when-loaded.ts'

function onPage(readyState: 'interactive' | 'complete') {
  const loaded: (() => void)[] = []
  const goOn = vi.fn()
  whenLoaded({ document: { readyState }, addEventListener: (_type, listener) => loaded.push(listener) }, goOn)
  return {
    goOn,
    load() {
      for (const listener of loaded) listener()
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

it('a page whose frames are loading goes on when they are', () => {
  const { goOn, load } = onPage('interactive')
  expect(goOn).not.toHaveBeenCalled()
  load()
  expect(goOn).toHaveBeenCalledTimes(1)
})

it('a page with a frame that hangs goes on after 3 s, and not before', () => {
  const { goOn } = onPage('interactive')
  vi.advanceTimersByTime(2_999)
  expect(goOn).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(goOn).toHaveBeenCalledTimes(1)
})

it('a page that was loaded before its script ran goes on at once', () => {
  expect(onPage('complete').goOn).toHaveBeenCalledTimes(1)
})

it('a page goes on once', () => {
  const { goOn, load } = onPage('interactive')
  load()
  vi.advanceTimersByTime(10_000)
  load()
  expect(goOn).toHaveBeenCalledTimes(1)
})
