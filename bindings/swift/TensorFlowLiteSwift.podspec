# SPDX-License-Identifier: Apache-2.0
# CocoaPods: the Swift module, under the name and with the subspecs that Podfiles already use:
#     pod 'TensorFlowLiteSwift', :path => 'halite/bindings/swift', :subspecs => ['Metal', 'CoreML']
Pod::Spec.new do |s|
  s.name = 'TensorFlowLiteSwift'
  s.version = '0.1.0'
  s.summary = 'TensorFlow Lite models in Swift, run by Halite'
  s.description = <<-TEXT
    The module TensorFlowLite: interpreters, tensors and signatures of TensorFlow Lite models, with delegates for GPUs
    and Core ML as subspecs. Halite, a library in C, runs the models.
  TEXT
  s.homepage = 'https://halite.example' # whoever publishes it puts the place of its repository here
  s.license = { :type => 'Apache-2.0', :file => '../../LICENSE' }
  s.authors = 'The Halite authors'
  s.source = { :git => "#{s.homepage}.git", :tag => "v#{s.version}" }

  s.module_name = 'TensorFlowLite'
  s.swift_versions = ['5.5', '5.9', '6.0']
  s.ios.deployment_target = '12.0'
  s.osx.deployment_target = '10.15'
  s.static_framework = true
  s.default_subspec = 'Core'

  sources = 'Sources/TensorFlowLite/'
  delegates = { 'Metal' => %w[MetalDelegate GPULibrary], 'CoreML' => %w[CoreMLDelegate] }

  s.subspec 'Core' do |core|
    core.dependency 'TensorFlowLiteC', s.version.to_s
    core.source_files = "#{sources}*.swift"
    core.exclude_files = delegates.values.flatten.map { |file| "#{sources}#{file}.swift" }
  end

  delegates.each do |name, files|
    s.subspec name do |delegate|
      delegate.dependency 'TensorFlowLiteSwift/Core', s.version.to_s
      delegate.dependency "TensorFlowLiteC/#{name}", s.version.to_s
      delegate.source_files = files.map { |file| "#{sources}#{file}.swift" }
    end
  end
end
