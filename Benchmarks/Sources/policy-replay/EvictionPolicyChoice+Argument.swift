public import ArgumentParser
public import PrefetchCaching

extension EvictionPolicyChoice: @retroactive ExpressibleByArgument {}
