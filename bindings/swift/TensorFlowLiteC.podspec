# SPDX-License-Identifier: Apache-2.0
# CocoaPods: the C libraries that the Swift and Objective-C modules stand on, as dynamic frameworks (delegates are looked
# up by name, which the linker drops from static ones) with the module maps of Sources/TensorFlowLiteC*. Frameworks/ is what
# a Mac with Xcode makes of build trees for iOS and macOS: see README.md.
Pod::Spec.new do |s|
  s.name = 'TensorFlowLiteC'
  s.version = '0.1.0'
  s.summary = 'TensorFlow Lite models in C, run by Halite'
  s.description = <<-TEXT
    The C interface of TensorFlow Lite: models, interpreters, tensors, signatures; delegates for GPUs and Core ML as
    subspecs. Halite implements it.
  TEXT
  s.homepage = 'https://halite.example' # whoever publishes it puts the place of its repository here
  s.license = { :type => 'Apache-2.0', :file => '../../LICENSE' }
  s.authors = 'The Halite authors'
  s.source = { :git => "#{s.homepage}.git", :tag => "v#{s.version}" }

  s.ios.deployment_target = '12.0'
  s.osx.deployment_target = '10.15'
  s.default_subspec = 'Core'

  s.subspec 'Core' do |core|
    core.vendored_frameworks = 'Frameworks/TensorFlowLiteC.xcframework'
  end

  s.subspec 'Metal' do |metal|
    metal.dependency 'TensorFlowLiteC/Core', s.version.to_s
    metal.vendored_frameworks = 'Frameworks/TensorFlowLiteCMetal.xcframework'
    metal.weak_framework = 'Metal'
  end

  s.subspec 'CoreML' do |coreml|
    coreml.dependency 'TensorFlowLiteC/Core', s.version.to_s
    coreml.vendored_frameworks = 'Frameworks/TensorFlowLiteCCoreML.xcframework'
    coreml.weak_framework = 'CoreML'
  end
end
