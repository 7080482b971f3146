public import ArgumentParser
public import PrefetchCache

extension EvictionPolicyChoice: @retroactive ExpressibleByArgument {}
